# cmake -DFILES=PATTERN -DOUT=HEADER -DNAME=MACRO -P hash.cmake: a header whose macro is a text that changes with the files.
file(GLOB files "${FILES}")
foreach(path IN LISTS files)
    file(SHA256 "${path}" one)
    string(APPEND all "${one}")
endforeach()
string(SHA256 all "${all}")
string(SUBSTRING "${all}" 0 8 all)
file(WRITE "${OUT}" "#define ${NAME} \"${all}\"\n")

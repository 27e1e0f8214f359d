# What was to be decided about the QR factorisation.
# No more columns than rows; no memory pool; leading dimensions; reflectors lie below the diagonal.
/^descA /i %assume descA->mt >= descA->nt && descT->mt == descA->mt && descT->nt == descA->nt
/^pool /d
/parsec_private_memory/d
s/\<\([ACV][12]\{0,1\}\), descA->mb/\1, \1_ld/g
s/= LOWER\]/= LOWER_STRICT]/
/DECIDE:/d

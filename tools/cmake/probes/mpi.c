/* MPI_Get_library_version may be called before MPI_Init, so this needs no launcher. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, provided;

    if (argc > 1 && MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        return 2; /* never run; it must link */
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return 1;
    text[strcspn(text, ",\n")] = '\0';
    printf("%s, MPI %d.%d\n", text, MPI_VERSION, MPI_SUBVERSION);
    return 0;
}

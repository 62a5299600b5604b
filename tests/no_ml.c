// Stands in for ML of Trilinos (see CMakeLists.txt): the one variable that PETSc takes from it. Its functions are
// looked up only when they are called.
extern void *ml_void_mem_ptr;
void *ml_void_mem_ptr;

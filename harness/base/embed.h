/*
 * A file inside the program: EMBED(name, "path") makes `const char name[]` of it, which ends with a
 * 0. The assembler copies it in, so that the program needs no file when it runs. Paths are those
 * from the top of the tree, where the compiler is started.
 */
#ifndef HIL_EMBED_H
#define HIL_EMBED_H

#define EMBED(symbol, path)                                                                        \
    extern const char symbol[];                                                                    \
    __asm__(".pushsection .rodata\n"                                                               \
            ".globl " #symbol "\n"                                                                 \
            ".hidden " #symbol "\n" #symbol ":\n"                                                  \
            ".incbin \"" path "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n")

#endif

/*
 * Embeds a file in the program: EMBED(name, "path") makes `const char name[]` of it, with a 0 at
 * the end. The assembler copies it in, so the program does not need the file when it runs. Paths
 * are relative to the top of the tree, where the compiler is started.
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

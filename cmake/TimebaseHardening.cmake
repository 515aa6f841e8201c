# Hardening of everything that is built, as far as the compiler and the linker have it. Bytes from files
# and networks are parsed here: a mistake in a parser must end the program, and not run an attacker's code.
# tests/package/hardening_test reads the result in the installed binaries.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

if(NOT TB_HARDENING)
  return()
endif()

foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
  string(MAKE_C_IDENTIFIER "TB_HAS${flag}" known)
  check_c_compiler_flag(${flag} ${known})
  if(${known})
    target_compile_options(timebase_warnings INTERFACE ${flag})
  endif()
endforeach()

# The C library checks only in optimised code, and the sanitizers check more. Another level in
# CFLAGS takes precedence.
if(NOT TB_SANITIZE AND NOT "$ENV{CPPFLAGS} ${CMAKE_C_FLAGS}" MATCHES "_FORTIFY_SOURCE")
  target_compile_options(timebase_warnings INTERFACE
    $<$<NOT:$<OR:$<CONFIG:Debug>,$<CONFIG:>>>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=2>)
endif()

foreach(option relro now noexecstack)
  check_linker_flag(C LINKER:-z,${option} TB_LINKS_Z_${option})
  if(TB_LINKS_Z_${option})
    target_link_options(timebase_warnings INTERFACE LINKER:-z,${option})
  endif()
endforeach()

# SPDX-License-Identifier: Apache-2.0
# commit.cmake -DSOURCE=folder -DTO=header: writes the commit of an archive that git made, which git writes into
# the next line, or of a checkout, with "-dirty" where files that git knows differ from it; else an empty text.
# An archive asks no git. The header is left alone where it says so already.
set(archived "$Format:%H$")
set(commit "")
if(archived MATCHES "^[0-9a-f]+$")
  set(commit ${archived})
else()
  find_program(GIT git)
endif()
if(GIT)
  # A copy inside another project's checkout does not have that checkout's commit. Nothing is locked
  # or written, because another program may be using the checkout.
  execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} rev-parse --show-cdup
    RESULT_VARIABLE code OUTPUT_VARIABLE up ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(code EQUAL 0 AND up STREQUAL "")
    execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} rev-parse HEAD
      RESULT_VARIABLE code OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT code EQUAL 0)
      set(commit "")
    else()
      execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} status --porcelain
          --untracked-files=no
        RESULT_VARIABLE code OUTPUT_VARIABLE changes ERROR_QUIET)
      if(NOT code EQUAL 0 OR NOT changes STREQUAL "")
        string(APPEND commit "-dirty")
      endif()
    endif()
  endif()
endif()
set(text "#define RECORD_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${TO})
  file(READ ${TO} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${TO} "${text}")
endif()

# fragbench_embed(SYMBOL FILE OUT): writes OUT, a C source with FILE's bytes, a terminator behind them, as
#   const unsigned char SYMBOL[];
function(fragbench_embed symbol file out)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes
    "${bytes}")
  set(text "extern const unsigned char ${symbol}[];\nconst unsigned char ${symbol}[] = {\n${bytes}0x00};\n")
  set(old "")
  if(EXISTS ${out})
    file(READ ${out} old)
  endif()
  if(NOT text STREQUAL old)
    file(WRITE ${out} "${text}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()

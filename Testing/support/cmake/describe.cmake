# Writes down what the extension says of itself, a line each.

set(_description "EXTENSION_NAME=${PROJECT_NAME}\n")
foreach(_name
    HOMEPAGE CONTRIBUTORS DESCRIPTION ICONURL SCREENSHOTURLS DEPENDS LICENSE_FILE README_FILE)
  string(APPEND _description "EXTENSION_${_name}=${EXTENSION_${_name}}\n")
endforeach()
get_property(_tests GLOBAL PROPERTY SEGMENTMETRICS_TESTS)
string(APPEND _description "TESTS=${_tests}\n")
file(WRITE "${CMAKE_BINARY_DIR}/description.txt" "${_description}")

# Takes the place of a build of Slicer: find_package(Slicer) finds this with Slicer_DIR. See Testing/module/test_extension.py.

set(Slicer_USE_FILE "${CMAKE_CURRENT_LIST_DIR}/UseSlicer.cmake")
set(Slicer_EXTENSION_GENERATE_CONFIG "${CMAKE_CURRENT_LIST_DIR}/describe.cmake")
set(Slicer_EXTENSION_CPACK "${CMAKE_CURRENT_LIST_DIR}/describe.cmake")
set(Slicer_QTSCRIPTEDMODULES_LIB_DIR "lib/Slicer/qt-scripted-modules")
set(Slicer_INSTALL_QTSCRIPTEDMODULES_LIB_DIR "lib/Slicer/qt-scripted-modules")

# Toolchain file: compiles for arm64 on another machine (Debian: g++-aarch64-linux-gnu) and runs the tests in qemu-user.
#   cmake -B build/arm64 --toolchain cmake/arm64.cmake -DOCCAM_NATIVE=OFF
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)

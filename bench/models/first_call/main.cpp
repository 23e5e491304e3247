// Runs a command, and prints the seconds from its start to the first byte of its output, and the most memory
// that it had, in KiB.
//
//     quern_first_call COMMAND [ARGUMENT]…
//
// A process of its own: the kernel counts the memory of a program's parent, before it became the program, as
// the program's.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <vector>

#include "bench/harness/stopwatch.h"

int main(int argc, char** argv) {
  using quern::bench::now;
  std::array<int, 2> output{};
  if (argc < 2 || pipe(output.data()) != 0) return 2;
  const double start = now();
  const pid_t process = fork();
  if (process == 0) {
    dup2(output[1], STDOUT_FILENO);
    close(output[0]);
    close(output[1]);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  close(output[1]);
  if (process < 0) return 2;
  double took = 0;
  for (std::vector<char> buffer(1 << 16); read(output[0], buffer.data(), buffer.size()) > 0;)
    if (took == 0) took = now() - start;
  int status = 0;
  rusage usage{};
  if (wait4(process, &status, 0, &usage) != process || status != 0 || took == 0) return 1;
  std::printf("%.6f %ld\n", took, usage.ru_maxrss);
}

#include "calibration/plot.h"

#include <fmt/format.h>

namespace warplens::calibration {
namespace {

struct Plot {
  const char *name, *title, *x, *setting, *command;
};

constexpr Plot plots[] = {
    {"chase", "A dependent load, against the working set", "KiB", "set logscale x 2",
     "using 1:2 with points pt 7 ps 0.3"},
    {"strides", "A dependent load, against the number of pointers and their distance", "pointers",
     "set logscale x 2", "using 2:3:1 with points pt 7 ps 0.4 palette"},
    {"touch_l1", "A second load behind a first one that the L1 did not have", "bytes behind the first", "",
     "using 1:2 with points pt 7 ps 0.4"},
    {"touch_l2", "A second load behind a first one that the L2 did not have", "bytes behind the first", "",
     "using 1:2 with points pt 7 ps 0.4"},
    {"distance", "First (0) and second (1) load of a line, by SM", "SM", "",
     "using 1:3:2 with points pt 7 ps 0.3 palette"},
    {"bits", "A second load from memory whose address differs in one bit", "bit", "",
     "using 1:2 with points pt 7 ps 0.4"},
    {"batches", "Until all of some simultaneous requests have arrived, by requesting SMs",
     "requests of each SM", "set logscale x 2", "using 2:3:1 with points pt 7 ps 0.6 palette"},
};

} // namespace

std::string print_plot_script(const std::string& gpu) {
  std::string name;
  for (const char letter : gpu)
    if (letter != '\'' && static_cast<unsigned char>(letter) >= 0x20 && letter != 0x7f)
      name += letter;
  std::string script = "set terminal svg size 900,540 background 'white'\n"
                       "set datafile separator ','\n"
                       "set ylabel 'cycles'\nset grid\nunset key\n"
                       "is_there(file) = int(system('test -s ' . file . ' && echo 1 || echo 0'))\n";
  for (const Plot& plot : plots)
    script += fmt::format("\nif (is_there('{0}.csv')) {{\n  set output '{0}.svg'\n  set title '{1} ({2})'\n"
                          "  set xlabel '{3}'\n  unset logscale\n  {4}\n  plot '{0}.csv' skip 1 {5}\n}}\n",
                          plot.name, plot.title, name, plot.x, plot.setting, plot.command);
  return script;
}

} // namespace warplens::calibration

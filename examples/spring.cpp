// How heavy is a coil spring that is strong enough? Three arguments, one result line; lower is better.
// Exit code 77 says that the configuration cannot be built, so that wimble does not try it again.
// Build: c++ -O2 -o spring spring.cpp
#include <cstdio>
#include <cstdlib>

int main(int count, char **words) {
    if (count != 4) {
        std::fprintf(stderr, "usage: spring WIRE COIL TURNS\n");
        return 2;
    }
    const double wire = std::atof(words[1]), coil = std::atof(words[2]), turns = std::atof(words[3]);
    if (coil < 2 * wire) return 77;  // the wire is too thick to be wound
    const double stiffness = wire * wire * wire * wire / (coil * coil * coil * turns);
    const double missing = stiffness < 2e-5 ? (2e-5 - stiffness) / 2e-5 : 0;
    const double weight = (turns + 2) * coil * wire * wire;
    std::printf("{\"value\": %.17g, \"weight\": %.17g}\n", weight + missing, weight);
}

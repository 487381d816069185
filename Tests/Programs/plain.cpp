// A C++ program: containers, exceptions, over-aligned and array new.
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct alignas(256) Wide {
  char bytes[256];
};

int main() {
  std::map<std::string, std::vector<int>> table;
  for (int i = 0; i < 1000; i++)
    table["a key that is longer than the small string buffer " + std::to_string(i % 100)].push_back(i);
  int caught = 0;
  for (int i = 0; i < 100; i++) {
    try {
      throw std::runtime_error("thrown");
    } catch (const std::exception &) {
      caught++;
    }
  }
  auto wide = std::make_unique<Wide>();
  auto array = std::unique_ptr<int[]>(new int[100]);
  std::printf("%zu keys, %d exceptions, %d\n", table.size(), caught, int(reinterpret_cast<size_t>(wide.get()) % 256));
  return 0;
}

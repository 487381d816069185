// A program that allocates by wrappers of its own, as many in C do. With "leak" it loses a few blocks of different
// kinds; with "clean" it frees all.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef size_t byte_count;
typedef void *memory;

static memory checked_alloc(byte_count size) {
  void *result = malloc(size);
  if (result == NULL) abort();
  return result;
}

static void *zeroed_alloc(byte_count count, byte_count size) {
  void *result = checked_alloc(count * size);
  memset(result, 0, count * size);
  return result;
}

struct row {
  int cells[6];
};

__attribute__((noinline)) static char *copy_title(const char *title) {
  char *copy = checked_alloc(strlen(title) + 1);
  return strcpy(copy, title);
}

__attribute__((noinline)) static struct row *make_row(int first) {
  struct row *row = zeroed_alloc(1, sizeof *row);
  row->cells[0] = first;
  return row;
}

__attribute__((noinline)) static double *make_totals(int columns) {
  return zeroed_alloc((size_t)columns, sizeof(double));
}

__attribute__((noinline)) static int *make_index(int rows) {
  int *index = checked_alloc((size_t)rows * sizeof(int));
  for (int row = 0; row < rows; row++) index[row] = row;
  return index;
}

__attribute__((noinline)) static char *make_separator(int width) {
  char *line = zeroed_alloc((size_t)width + 1, 1);
  memset(line, '-', (size_t)width);
  return line;
}

__attribute__((noinline)) static char *make_margin(int width) {
  char *margin = zeroed_alloc(1, (size_t)width + 1);
  memset(margin, ' ', (size_t)width);
  return margin;
}

__attribute__((noinline)) static int *make_order(int rows) {
  int *order = checked_alloc((size_t)rows * sizeof(int));
  for (int row = 0; row < rows; row++) order[row] = rows - row;
  return order;
}

__attribute__((noinline)) static void print_sheet(int rows, int keeps) {
  char *title = copy_title("quarterly totals");
  struct row *row = make_row(rows);
  double *totals = make_totals(4 * rows);
  int *index = make_index(rows);
  char *separator = make_separator(8 * rows);
  char *margin = make_margin(rows);
  int *order = make_order(rows);
  printf("%s%s %d %g %d %d %s\n", margin, title, row->cells[0], totals[rows], index[rows - 1], order[0], separator);
  free(margin);
  free(order);
  free(separator);
  free(row);
  if (keeps) return;
  free(title);
  free(totals);
  free(index);
}

int main(int argc, char **argv) {
  int leaks = argc > 1 && strcmp(argv[1], "leak") == 0;
  for (int rows = 1; rows <= 8; rows++) print_sheet(rows, leaks);
  return 0;
}

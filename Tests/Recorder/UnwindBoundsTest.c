// An image's .eh_frame is read only up to the end of the image, whatever length it claims.

#include "unwind/unwind_table.h"

#include "RecorderTest.h"
#include "UnwindImage.h"

#include <string.h>

enum { SP = LT_REG_STACK, RA = LT_REG_RETURN, RA_AT = 0x80 | RA };

/// .eh_frame_hdr, a CIE and an FDE for code in the same segment.
static const uint8_t tables[] = {
    1,    0x1b, 0x03, 0x3b,                       // version, encodings
    16,   0,    0,    0,                          // .eh_frame begins 20 bytes after this field
    1,    0,    0,    0,                          // one entry
    64,   0,    0,    0,    44,   0,     0,    0, // code, description
    20,   0,    0,    0,    0,    0,     0,    0, // CIE
    1,    'z',  'R',  0,    1,    0x78,  RA,      // version, augmentation, alignments, return register
    1,    0x1b, 0x0c, SP,   8,    RA_AT, 1,    0,    0,    16, 0, 0, 0, 28,   0,    0,    0, // FDE, 28 after the CIE
    12,   0,    0,    0,    16,   0,     0,    0,                                            // code
    0,    0x41, 0x0e, 16, // one step further, the CFA is 16 bytes above the stack pointer
    0x90, 0x90, 0x90, 0x90, 0x55, 0x48,  0x89, 0xe5, 0xe8, 0,  0, 0, 0, 0x5d, 0xc3, 0x90,
};

TEST(whole_tables, "Tables that are whole say how to step out") {
  struct unwind_image image;
  EXPECT(unwind_image_make(&image, tables, sizeof tables));
  struct lt_unwind_row row;
  EXPECT(lt_unwind_row_in(&image.image, image.image.searchTable + 66, true, &row));
  EXPECT(row.cfaRegister == LT_REG_STACK && row.cfaOffset == 16);
  unwind_image_free(&image);
}

TEST(cut_tables, "Tables that are cut anywhere, or have any byte changed, are read within their segment alone") {
  for (size_t size = 1; size <= sizeof tables; size++) unwind_image_try(tables, size);
  uint8_t changed[sizeof tables];
  for (size_t at = 0; at < sizeof tables; at++) {
    for (unsigned value = 0; value < 256; value++) {
      memcpy(changed, tables, sizeof tables);
      changed[at] = (uint8_t)value;
      unwind_image_try(changed, sizeof changed);
    }
  }
}

// Functions of newer C libraries that we and Debian 12's archive of the C++ library call, for glibc 2.31.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/// The process may have several threads at any time: counts of references are changed by atomic instructions.
char __libc_single_threaded = 0;

/// Returns 32 random bits; the process ends where the kernel has none, as glibc 2.36 does.
uint32_t arc4random(void) {
  uint32_t bits;
  if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
    abort();
  return bits;
}

struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

/// Notes the extent of an object whose segments the address is among.
static int note_if_inside(struct dl_phdr_info* object, size_t size, void* data) {
  struct search* const search = data;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  (void)size;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD)
      continue;
    const uintptr_t segment_begin = object->dlpi_addr + segment->p_vaddr;
    if (segment_begin < begin)
      begin = segment_begin;
    if (segment_begin + segment->p_memsz > end)
      end = segment_begin + segment->p_memsz;
  }
  if (search->address < begin || search->address >= end)
    return 0;
  const uintptr_t page = 4096;
  search->found->dlfo_map_start = (void*)(begin / page * page); // as glibc says, where the mapping begins
  search->found->dlfo_map_end = (void*)end;
  return 1;
}

/// Finds the object that an address belongs to, without what exceptions need of it. Returns 0, or -1 for
/// none.
int _dl_find_object(void* address, struct dl_find_object* found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(note_if_inside, &search) ? 0 : -1;
}

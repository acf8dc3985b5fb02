// Reads the module to lower: one file's bitcode, or that of all files in objects and archives, linked.
#include "lowering/device_link.h"
#include "lowering/stages.h"
#include "runtime/abi/device_section.h"

#include <llvm/BinaryFormat/Magic.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Object/Archive.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <set>

namespace warplens::lowering {

using namespace llvm;

namespace {

/// A static variable that host code uses gets a name with a suffix, so that it is visible from there. If
/// Clang meets a use in device code first, that use keeps the name without the suffix.
void give_externalised_names(Module& module) {
  for (GlobalVariable& variable : make_early_inc_range(module.globals())) {
    const StringRef name = variable.getName();
    const auto ending = name.find("__static__");
    GlobalVariable* other =
        ending == StringRef::npos ? nullptr : module.getNamedGlobal(name.substr(0, ending));
    if (other && other->isDeclaration())
      other->replaceAllUsesWith(&variable);
  }
}

/// Lets files that were compiled with different options (-ftz, say) be linked: what of these options counts
/// is in the attributes of each function.
void relax_flags(Module& module) {
  SmallVector<Module::ModuleFlagEntry, 8> flags;
  module.getModuleFlagsMetadata(flags);
  if (flags.empty())
    return;
  module.getModuleFlagsMetadata()->clearOperands();
  for (const auto& [behavior, key, value] : flags)
    module.addModuleFlag(behavior == Module::Error || behavior == Module::Override ? Module::Warning
                                                                                   : behavior,
                         key->getString(), value);
}

/// Links all modules of a device link into one.
class DeviceLink {
public:
  explicit DeviceLink(LLVMContext& context)
      : module_(std::make_unique<Module>("device link", context)), linker_(*module_) {
    module_->setTargetTriple("nvptx64-nvidia-cuda");
  }

  Expected<void> add_file(const std::string& path) {
    auto buffer = MemoryBuffer::getFile(path);
    if (!buffer)
      return fail("{}: {}", path, buffer.getError().message());
    switch (identify_magic((*buffer)->getBuffer())) {
    case file_magic::archive: return add_archive(path, **buffer);
    case file_magic::elf_relocatable: return add_object(path, **buffer);
    default: return {}; // shared libraries, linker scripts: they contain no linkable device code
    }
  }

  LinkedBitcode take() { return {std::move(module_), {object_symbols_.begin(), object_symbols_.end()}}; }

private:
  Expected<void> add_archive(const std::string& path, MemoryBufferRef bytes) {
    auto archive = object::Archive::create(bytes);
    if (!archive)
      return fail("{}: {}", path, toString(archive.takeError()));
    llvm::Error problem = llvm::Error::success();
    for (const auto& member : (*archive)->children(problem)) {
      auto buffer = member.getMemoryBufferRef();
      if (!buffer)
        return fail("{}: {}", path, toString(buffer.takeError()));
      if (identify_magic(buffer->getBuffer()) == file_magic::elf_relocatable)
        if (auto added = add_object(path, *buffer); !added)
          return added;
    }
    return problem ? fail("{}: {}", path, toString(std::move(problem))) : Expected<void>{};
  }

  Expected<void> add_object(const std::string& path, MemoryBufferRef bytes) {
    auto object = object::ObjectFile::createELFObjectFile(bytes);
    if (!object)
      return fail("{}: {}", path, toString(object.takeError()));
    for (const object::SectionRef& section : (*object)->sections()) {
      auto name = section.getName();
      auto contents = section.getContents();
      if (!name || !contents) {
        consumeError(name.takeError());
        consumeError(contents.takeError());
      } else if (*name == cpu::device_section) {
        if (auto added = add_bitcode(path, *contents); !added)
          return added;
      }
    }
    return add_object_symbols(path, **object);
  }

  Expected<void> add_object_symbols(const std::string& path, const object::ObjectFile& object) {
    for (const object::SymbolRef& symbol : object.symbols()) {
      auto name = symbol.getName();
      if (!name)
        return fail("{}: {}", path, toString(name.takeError()));
      if (name->starts_with(cpu::linked_symbol_prefix))
        object_symbols_.insert(name->str());
    }
    return {};
  }

  /// `ld -r` concatenates the sections of several objects.
  Expected<void> add_bitcode(const std::string& path, StringRef contents) {
    auto modules = getBitcodeModuleList({contents, path});
    if (!modules)
      return fail("{}: its device code cannot be read: {}", path, toString(modules.takeError()));
    for (BitcodeModule& bitcode : *modules) {
      auto module = bitcode.parseModule(module_->getContext());
      if (!module)
        return fail("{}: its device code cannot be read: {}", path, toString(module.takeError()));
      give_externalised_names(**module);
      relax_flags(**module);
      if (module_->getDataLayout().isDefault())
        module_->setDataLayout((*module)->getDataLayout());
      const std::string source = (*module)->getSourceFileName();
      std::string problem;
      module_->getContext().setDiagnosticHandlerCallBack(
          [](const DiagnosticInfo* info, void* text) {
            raw_string_ostream stream(*static_cast<std::string*>(text));
            DiagnosticPrinterRawOStream printer(stream);
            info->print(printer);
          },
          &problem);
      const bool failed = linker_.linkInModule(std::move(*module));
      module_->getContext().setDiagnosticHandlerCallBack(nullptr);
      if (failed)
        return fail("{}: device code of {}: {}", path, source, problem);
    }
    return {};
  }

  std::unique_ptr<Module> module_;
  Linker linker_;
  std::set<std::string> object_symbols_;
};

} // namespace

Expected<std::unique_ptr<Module>> read_bitcode(const std::filesystem::path& path, LLVMContext& context) {
  auto buffer = MemoryBuffer::getFile(path.string());
  if (!buffer)
    return fail("{}: {}", path.string(), buffer.getError().message());
  auto module = parseBitcodeFile(**buffer, context);
  if (!module)
    return fail("{}: not LLVM bitcode: {}", path.string(), toString(module.takeError()));
  if (!StringRef((*module)->getTargetTriple()).starts_with("nvptx64"))
    return fail("{}: bitcode for {}, not for nvptx64; compile the device half", path.string(),
                (*module)->getTargetTriple());
  return std::move(*module);
}

Expected<LinkedBitcode> link_bitcode(const std::vector<std::string>& files, LLVMContext& context) {
  DeviceLink link(context);
  for (const std::string& file : files)
    TRY(link.add_file(file));
  return link.take();
}

} // namespace warplens::lowering

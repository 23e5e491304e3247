#include "jit/codegen/debugging.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/Debugging/DebuggerSupport.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ObjCopy/ConfigManager.h>
#include <llvm/ObjCopy/ObjCopy.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/raw_ostream.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <mutex>

namespace quern::codegen {

namespace {

/// One line per function: start and size in hexadecimal, and the name. perf reads the file when it reports,
/// so lines of freed code stay, and may refer to an address that other code has reused.
class PerfMapPlugin final : public llvm::orc::ObjectLinkingLayer::Plugin {
 public:
  explicit PerfMapPlugin(std::FILE* file) : file_(file, &std::fclose) {}

  void modifyPassConfig(llvm::orc::MaterializationResponsibility&, llvm::jitlink::LinkGraph&,
                        llvm::jitlink::PassConfiguration& passes) override {
    // Names of functions called only from their own section would be dropped.
    passes.PrePrunePasses.emplace_back([](llvm::jitlink::LinkGraph& graph) {
      for (llvm::jitlink::Symbol* symbol : graph.defined_symbols())
        if (is_function(*symbol)) symbol->setLive(true);
      return llvm::Error::success();
    });
    passes.PostFixupPasses.emplace_back([this](llvm::jitlink::LinkGraph& graph) {
      write(graph);
      return llvm::Error::success();
    });
  }
  llvm::Error notifyFailed(llvm::orc::MaterializationResponsibility&) override {
    return llvm::Error::success();
  }
  llvm::Error notifyRemovingResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey) override {
    return llvm::Error::success();
  }
  void notifyTransferringResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey,
                                   llvm::orc::ResourceKey) override {}

 private:
  static bool is_function(const llvm::jitlink::Symbol& symbol) {
    return symbol.hasName() && symbol.isCallable() && symbol.getSize() > 0;
  }
  void write(llvm::jitlink::LinkGraph& graph) {
    const std::lock_guard lock(mutex_);
    for (const llvm::jitlink::Symbol* symbol : graph.defined_symbols())
      if (is_function(*symbol))
        fmt::print(file_.get(), "{:x} {:x} {}\n", symbol->getAddress().getValue(), symbol->getSize(),
                   std::string_view(symbol->getName()));
    std::fflush(file_.get());
  }

  std::mutex mutex_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace

llvm::Error tell_debuggers(llvm::orc::LLJIT& jit) { return llvm::orc::enableDebuggerSupport(jit); }

llvm::Error write_perf_map(llvm::orc::LLJIT& jit) {
  auto* layer = llvm::dyn_cast<llvm::orc::ObjectLinkingLayer>(&jit.getObjLinkingLayer());
  if (!layer) return llvm::createStringError("this machine's linker has no perf map");
  const std::string path = fmt::format("/tmp/perf-{}.map", getpid());
  // Several code generators of a process write the same file.
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (!file) return llvm::createStringError(llvm::Twine(path) + " cannot be written");
  layer->addPlugin(std::make_shared<PerfMapPlugin>(file));
  return llvm::Error::success();
}

llvm::Expected<std::string> with_entry_named(const std::string& object, const std::string& from,
                                             const std::string& to) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file) return file.takeError();
  llvm::objcopy::ConfigManager config;
  config.Common.SymbolsToRename.insert({from, to});
  const std::string body = from + ".body";
  config.Common.SymbolsToRename.insert({body, to});
  std::string renamed;
  llvm::raw_string_ostream out(renamed);
  if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, **file, out)) return error;
  out.flush();
  return renamed;
}

}  // namespace quern::codegen

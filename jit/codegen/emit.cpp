// The functions around the statements of a kernel.

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "ir/base/result.h"
#include "jit/codegen/emitter.h"
#include "jit/codegen/host_functions.h"
#include "jit/schedule/grid.h"

namespace quern::codegen {

Emitter::Emitter(llvm::Module& module, const loops::Kernel& kernel, const Machine& machine)
    : module_(module),
      kernel_(kernel),
      machine_(machine),
      b_(module.getContext()),
      operations_(module, b_, machine) {}

namespace {

/// `noalias` holds for parameters only, so the kernel proper takes one parameter per buffer and the entry
/// unpacks them. `parameters`: the number of these buffers.
llvm::Function* declare_body(llvm::Module& module, const loops::Kernel& kernel, llvm::Type* result,
                             unsigned address_space, llvm::GlobalValue::LinkageTypes linkage,
                             const std::string& name, size_t parameters) {
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> types(parameters, llvm::PointerType::get(context, address_space));
  types.insert(types.end(), kernel.dims.size() + (kernel.range ? 2 : 0), llvm::Type::getInt64Ty(context));
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(result, types, false), linkage, name, module);
  function->setDoesNotThrow();
  for (unsigned i = 0; i < parameters; ++i) {
    function->getArg(i)->setName(kernel.buffers[i].name);
    // A scratch buffer read through a hidden pointer (hide_buffers) is written through the parameter, so it
    // aliases.
    if (kernel.buffers[i].is_scratch) continue;
    function->addParamAttr(i, llvm::Attribute::NoAlias);
    if (!kernel.buffers[i].is_output) function->addParamAttr(i, llvm::Attribute::ReadOnly);
  }
  return function;
}

}  // namespace

void Emitter::open_function(llvm::Function* function) {
  llvm::LLVMContext& context = module_.getContext();
  function_ = function;
  auto* entry = llvm::BasicBlock::Create(context, "entry", function);
  exit_ = llvm::BasicBlock::Create(context, "exit", function);
  b_.SetInsertPoint(entry);
  slots_end_ = b_.Insert(new llvm::FreezeInst(b_.getInt64(0)));
  open_scope();
  buffers_.clear();
  unsigned next = 0;
  for (const loops::Buffer& buffer : kernel_.buffers)
    buffers_.push_back(machine_.is_gpu && buffer.is_scratch ? local_memory(buffer)
                                                            : function->getArg(next++));
  for (const Dim dim : kernel_.dims) bind(dim, function->getArg(next++));
  if (!kernel_.range) return;
  range_begin_ = function->getArg(static_cast<unsigned>(function->arg_size()) - 2);
  range_end_ = function->getArg(static_cast<unsigned>(function->arg_size()) - 1);
}

void Emitter::close_function() {
  close_scope();
  slots_end_->eraseFromParent();
}

void Emitter::emit_host(const std::string& symbol) {
  llvm::Type* result = b_.getInt32Ty();
  auto* body = declare_body(module_, kernel_, result, 0, llvm::GlobalValue::InternalLinkage, symbol + ".body",
                            kernel_.buffers.size());
  open_function(body);
  block(kernel_.body);
  llvm::BasicBlock* last = b_.GetInsertBlock();
  b_.CreateBr(exit_);
  b_.SetInsertPoint(exit_);
  if (trap_number_) {
    trap_number_->addIncoming(b_.getInt32(0), last);
    b_.CreateRet(trap_number_);
  } else {
    b_.CreateRet(b_.getInt32(0));
  }
  close_function();

  auto* type = llvm::FunctionType::get(result, {b_.getPtrTy(), b_.getPtrTy()}, false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module_);
  entry->setDoesNotThrow();
  b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", entry));
  std::vector<llvm::Value*> args;
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    if (kernel_.buffers[i].is_scratch) break;
    args.push_back(b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), entry->getArg(0), i)));
  }
  if (args.size() < kernel_.buffers.size()) scratch(entry, args);
  for (size_t i = 0; i < kernel_.dims.size() + (kernel_.range ? 2 : 0); ++i) {
    args.push_back(
        b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), entry->getArg(1), i)));
  }
  llvm::CallInst* call = b_.CreateCall(body, args);
  call->setTailCall();
  b_.CreateRet(call);
}

/// Places the scratch buffers consecutively in the thread's workspace.
void Emitter::scratch(llvm::Function* entry, std::vector<llvm::Value*>& args) {
  constexpr int64_t kAlignment = 64;
  std::vector<int64_t> places{0};
  for (size_t i = args.size(); i < kernel_.buffers.size(); ++i) {
    const loops::Buffer& buffer = kernel_.buffers[i];
    const int64_t bytes =
        as_const(dim_product(buffer.shape)).value() * static_cast<int64_t>(buffer.dtype.bytes());
    places.push_back(places.back() + (bytes + kAlignment - 1) / kAlignment * kAlignment);
  }
  auto* type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getInt64Ty()}, false);
  llvm::Value* memory = b_.CreateCall(module_.getOrInsertFunction(kWorkspace, type),
                                      {b_.getInt64(static_cast<uint64_t>(places.back()))});
  auto* none = llvm::BasicBlock::Create(module_.getContext(), "none", entry);
  auto* some = llvm::BasicBlock::Create(module_.getContext(), "some", entry);
  b_.CreateCondBr(b_.CreateIsNull(memory), none, some);
  b_.SetInsertPoint(none);
  b_.CreateRet(b_.getInt32(loops::kNoMemory));
  b_.SetInsertPoint(some);
  for (size_t i = 0; args.size() < kernel_.buffers.size(); ++i)
    args.push_back(b_.CreateConstGEP1_64(b_.getInt8Ty(), memory, static_cast<uint64_t>(places[i])));
}

void Emitter::emit_gpu(const std::string& symbol) {
  constexpr unsigned kGlobalMemory = 1;
  const auto parameters = static_cast<size_t>(
      llvm::count_if(kernel_.buffers, [](const loops::Buffer& buffer) { return !buffer.is_scratch; }));
  auto* kernel = declare_body(module_, kernel_, b_.getVoidTy(), kGlobalMemory,
                              llvm::GlobalValue::ExternalLinkage, symbol, parameters);
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  open_function(kernel);
  if (loops::launch_extents(kernel_).empty()) {
    point_of_thread();
  } else {
    block(kernel_.body);
  }
  b_.CreateBr(exit_);
  b_.SetInsertPoint(exit_);
  b_.CreateRetVoid();
  close_function();
}

/// A scratch buffer of a GPU thread.
llvm::Value* Emitter::local_memory(const loops::Buffer& buffer) {
  const auto size = static_cast<uint64_t>(as_const(dim_product(buffer.shape)).value());
  llvm::AllocaInst* memory = new_slot(llvm::ArrayType::get(operations_.in_memory(buffer.dtype), size));
  memory->setAlignment(llvm::Align(16));
  return memory;
}

void Emitter::point_of_thread() {
  std::vector<const loops::For*> nest;
  const loops::Block* inner = &kernel_.body;
  while (inner->size() == 1) {
    auto* loop = loops::as<loops::For>(inner->front());
    if (!loop) break;
    nest.push_back(loop);
    inner = &loop->body;
  }
  llvm::Value* block_size =
      b_.CreateZExt(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x, {}, {}), b_.getInt64Ty());
  llvm::Value* block_start = b_.CreateMul(grid_index(loops::GridIndex::BlockX), block_size);
  llvm::Value* rest = b_.CreateAdd(block_start, grid_index(loops::GridIndex::ThreadX), "thread");
  llvm::Value* points = b_.getInt64(1);
  for (const loops::For* loop : nest) points = b_.CreateMul(points, dim(loop->extent));
  auto* work = llvm::BasicBlock::Create(module_.getContext(), "work", function_, exit_);
  b_.CreateCondBr(b_.CreateICmpULT(rest, points), work, exit_);
  b_.SetInsertPoint(work);
  for (const loops::For* loop : llvm::reverse(nest)) {
    llvm::Value* extent = dim(loop->extent);
    variables_[loop->var] = {b_.CreateURem(rest, extent), scopes_.size()};
    rest = b_.CreateUDiv(rest, extent);
  }
  open_scope();
  block(*inner);
  close_scope();
}

}  // namespace quern::codegen

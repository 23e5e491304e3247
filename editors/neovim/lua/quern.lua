-- The language server `quern lsp`, and commands for what it and the program can do.
local M = {}

local drawn = require('quern.drawn')
local ir = require('quern.ir')

M.stages = {
  'ast', 'typed', 'effects', 'gradient', 'fuse', 'fused', 'bytecode', 'plan', 'schedule', 'loops', 'llvm', 'asm',
}

local clients = {} -- the id of the client of each root

--- The program: `vim.g.quern_executable`, or `quern` of PATH.
local function program()
  return vim.g.quern_executable or 'quern'
end

--- The nearest folder above a file with `quern.toml`, else with `.git`, else the file's own.
function M.root_of(file)
  local folder = vim.fn.fnamemodify(file, ':p:h')
  for _, marker in ipairs({ 'quern.toml', '.git' }) do
    local at = folder
    while true do
      if vim.loop.fs_stat(at .. '/' .. marker) then
        return at
      end
      local above = vim.fn.fnamemodify(at, ':h')
      if above == at then
        break
      end
      at = above
    end
  end
  return folder
end

local function map_lens_key(buffer)
  local about = 'Quern: run the lens of the line'
  vim.keymap.set('n', '<LocalLeader>l', vim.lsp.codelens.run, { buffer = buffer, desc = about })
end

local function map_keys(buffer)
  local function map(keys, act, about)
    vim.keymap.set('n', keys, act, { buffer = buffer, desc = about })
  end
  map('K', vim.lsp.buf.hover, 'Quern: what this is')
  map('gd', vim.lsp.buf.definition, 'Quern: where this is defined')
  map('<LocalLeader>e', '<Cmd>QuernEvaluate<CR>', 'Quern: evaluate the line')
  map_lens_key(buffer)
  vim.keymap.set('x', '<LocalLeader>e', ':QuernEvaluate<CR>', { buffer = buffer, desc = 'Quern: evaluate the selection' })
  vim.bo[buffer].omnifunc = 'v:lua.vim.lsp.omnifunc'
end

--- What the client tells the server that it can do beside what Neovim does.
local function capabilities()
  local all = vim.lsp.protocol.make_client_capabilities()
  all.workspace.inlayHint = { refreshSupport = true }
  all.workspace.codeLens = { refreshSupport = true }
  all.window.showDocument = { support = true }
  return all
end

--- Shows a document that the server names: `quern:/…` in a window beside this one.
local function show_document(_, params)
  vim.cmd('keepalt rightbelow vsplit')
  vim.cmd('edit ' .. vim.fn.fnameescape(params.uri:match('^file:') and vim.uri_to_fname(params.uri) or params.uri))
  if params.uri:match('^quern:/ir/') then
    vim.wo.wrap = false
  end
  if params.takeFocus == false then
    vim.cmd('wincmd p')
  end
  return { success = true }
end

local function refresh(_, _, context)
  drawn.refresh(vim.lsp.get_client_by_id(context.client_id))
  return vim.NIL
end

--- Starts the server for a buffer's project, or takes the one that runs; whether there is one.
local function attach_client(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  if vim.bo[buffer].buftype ~= '' or name:match('^%a[%w+.-]+:/') then
    return false
  end
  local root = M.root_of(name)
  local id = clients[root]
  if not id or vim.lsp.client_is_stopped(id) then
    if vim.fn.executable(program()) == 0 then
      vim.notify_once(('`%s` is no program; set g:quern_executable'):format(program()), vim.log.levels.ERROR)
      return false
    end
    id = vim.lsp.start_client({
      name = 'quern',
      cmd = vim.g.quern_listen and { program(), 'lsp', '--listen' } or { program(), 'lsp' },
      root_dir = root,
      capabilities = capabilities(),
      init_options = vim.g.quern_settings,
      handlers = {
        ['workspace/inlayHint/refresh'] = refresh,
        ['workspace/codeLens/refresh'] = refresh,
        ['window/showDocument'] = show_document,
      },
      on_attach = drawn.attach,
    })
    clients[root] = id
  end
  return id ~= nil and vim.lsp.buf_attach_client(buffer, id)
end

function M.attach(buffer)
  if attach_client(buffer) then
    map_keys(buffer)
  end
end

--- The same of a transcript, whose only key is that of its lens; of Markdown where it has inputs.
function M.attach_transcript(buffer)
  local is_transcript = false
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    is_transcript = is_transcript or line:match('^>>> ') ~= nil
  end
  if is_transcript and attach_client(buffer) then
    map_lens_key(buffer)
  end
end

function M.restart()
  for root, id in pairs(clients) do
    vim.lsp.stop_client(id)
    clients[root] = nil
  end
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].filetype == 'quern' then
      M.attach(buffer)
    end
  end
end

--- What a request of Quern's own is answered with, or nil and why there is none.
local function request(buffer, method, params)
  for _, id in pairs(clients) do
    local client = vim.lsp.get_client_by_id(id)
    if client then
      local answer, failure = client.request_sync(method, params, 10000, buffer)
      if not answer then
        return nil, failure
      end
      return answer.result, answer.err and answer.err.message
    end
  end
  return nil, 'the language server does not run'
end

--- The texts `quern:/…` that only the server has.
function M.read_virtual(buffer, uri)
  local answer, failure = request(buffer, 'quern/virtualDocument', { uri = uri })
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].filetype = 'quern'
  ir.fill(buffer, answer and answer.text or '// ' .. tostring(failure))
end

--- Evaluates lines `first` to `last` of the buffer or, where they are one, the `// >>>` or the statement there; what that
--- gives is shown in the message line, and beside the text.
function M.evaluate(first, last)
  local buffer = vim.api.nvim_get_current_buf()
  local range = { start = { line = first - 1, character = 0 }, ['end'] = { line = first - 1, character = 0 } }
  if last > first then
    range['end'] = { line = last, character = 0 }
  end
  local argument = { uri = vim.uri_from_bufnr(buffer), range = range }
  local params = { command = 'quern.evaluate', arguments = { argument } }
  vim.lsp.buf_request(buffer, 'workspace/executeCommand', params, function(failure, result)
    if failure then
      return vim.notify(failure.message, vim.log.levels.ERROR)
    end
    for _, part in ipairs(vim.list_extend(result.problems, result.parts)) do
      local wrong = part.message or (part.failure and part.failure.message)
      if wrong then
        vim.notify(wrong, vim.log.levels.ERROR)
      elseif part.text then
        vim.notify(('%s: %s'):format(part.text, part.type))
      end
    end
  end)
end

--- What the file becomes at a stage (`typed` without one), in a window beside it that follows it: of one definition, or of
--- all statements.
function M.show_ir(stage, name)
  stage = stage or 'typed'
  local source = vim.api.nvim_get_current_buf()
  local params = { uri = vim.uri_from_bufnr(source), stage = stage, ['function'] = name }
  ir.show(source, stage, name, function(done)
    local client
    for _, each in pairs(vim.lsp.buf_get_clients(source)) do
      client = each.name == 'quern' and each or client
    end
    if not client then
      return done(nil, { message = 'the language server does not run' })
    end
    client.request('quern/ir', params, function(failure, answer)
      done(answer, failure)
    end, source)
  end)
end

return M

-- Run by `nvim --headless` with $QUERN, $EDITORS and $SCRATCH: a failure ends it with 1.
vim.opt.runtimepath:prepend(vim.env.EDITORS .. '/neovim')
vim.g.quern_executable = vim.env.QUERN
vim.cmd('filetype plugin indent on | syntax on | runtime plugin/quern.lua')

local function equal(found, expected, what)
  assert(vim.deep_equal(found, expected), ('%s: %s, not %s'):format(what, vim.inspect(found), vim.inspect(expected)))
end

local function check()
  vim.cmd('edit ' .. vim.env.SCRATCH .. '/test.relay')
  equal(vim.bo.filetype, 'quern', 'the type')
  equal(vim.bo.commentstring, '// %s', 'comments')
  equal(vim.fn.synIDattr(vim.fn.synID(1, 1, 1), 'name'), 'quernKeyword', 'the syntax')
  equal(require('quern').root_of(vim.env.SCRATCH .. '/a/b.relay'), vim.env.SCRATCH, 'the root')
  vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end)
  local found = vim.diagnostic.get(0)
  equal(#found, 1, 'diagnostics')
  equal({ found[1].lnum, found[1].col, found[1].code }, { 3, 13, 'Q0201' }, 'the diagnostic')

  vim.api.nvim_win_set_cursor(0, { 2, 1 })
  local hover = vim.lsp.buf_request_sync(0, 'textDocument/hover', vim.lsp.util.make_position_params(), 30000)
  assert(vim.inspect(hover):find('float32'), vim.inspect(hover))
  vim.api.nvim_buf_set_lines(0, 3, 4, false, { 'let %y = 1 + 2;' })
  vim.wait(30000, function() return #vim.diagnostic.get(0) == 0 end)
  equal(#vim.diagnostic.get(0), 0, 'diagnostics of the mended text')

  local drawn = require('quern.drawn')
  vim.api.nvim_buf_set_lines(0, 5, -1, false, { '// >>> @twice(4.0)' })
  vim.api.nvim_win_set_cursor(0, { 6, 0 })
  vim.cmd('QuernEvaluate')
  vim.wait(30000, function() return drawn.hints(0)[5] == '= 8' end, 100)
  equal(drawn.hints(0)[5], '= 8', 'the value beside the text')
  equal(drawn.hints(0)[3], '%y: int32', 'the type beside the text')
  vim.wait(30000, function() return drawn.token_at(0, 0, 5) ~= nil end, 100)
  equal(drawn.token_at(0, 0, 5), 'Function', 'the token')

  vim.cmd('QuernIr typed @twice')
  equal(#vim.api.nvim_list_wins(), 2, 'windows')
  local shown = vim.api.nvim_win_get_buf(vim.fn.win_getid(2))
  local function await(text)
    local found
    vim.wait(30000, function()
      found = table.concat(vim.api.nvim_buf_get_lines(shown, 0, -1, false), '\n')
      return found:find(text, 1, true) ~= nil
    end, 20)
    assert(found:find(text, 1, true), found)
  end
  await('@twice(%x: float32) -> float32')
  equal(vim.bo[shown].modifiable, false, 'the IR may be written')
  equal(vim.wo[vim.fn.win_getid(2)].wrap, false, 'lines of the IR are wrapped')

  local source = vim.api.nvim_get_current_buf()
  local function marked(buffer)
    local rows = {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, vim.api.nvim_create_namespace('quern_ir_lines'), 0, -1, {})) do
      table.insert(rows, mark[2])
    end
    return rows
  end
  local function move(line)
    vim.api.nvim_win_set_cursor(0, { line, 0 })
    vim.cmd('doautocmd CursorMoved')
  end
  equal(marked(shown), {}, 'lines of the IR for a line of none')
  move(2)
  equal(marked(shown), { 1 }, 'lines of the IR for one of the source')
  vim.cmd('wincmd l')
  move(1)
  equal({ marked(shown), marked(source) }, { {}, { 0 } }, 'lines of the source for one of the IR')
  vim.cmd('wincmd h')
  vim.api.nvim_buf_set_lines(0, 1, 2, false, { '%x + %x + %x' })
  move(2)
  equal(marked(shown), {}, 'lines of the IR of an earlier text')
  vim.cmd('doautocmd TextChanged')
  await('add(add(%x, %x), %x)')
  move(2)
  equal(marked(shown), { 1 }, 'lines of the IR of the changed text')
  vim.api.nvim_buf_set_lines(0, 1, 2, false, { '%x + %nothing' })
  vim.cmd('doautocmd TextChanged')
  await('// ')
  vim.api.nvim_buf_set_lines(0, 1, 2, false, { '%x + %x + %x' })
  vim.cmd('doautocmd TextChanged')
  await('add(add(%x, %x), %x)')
  vim.cmd('QuernIr typed @twice')
  equal(#vim.api.nvim_list_wins(), 2, 'windows of the same IR')
  vim.cmd('QuernIr loops @twice')
  equal(#vim.api.nvim_list_wins(), 3, 'windows of two stages')
  equal(vim.api.nvim_get_current_buf(), source, 'the current buffer')
  vim.cmd('QuernIr typed @twice')
  await('add(add(%x, %x), %x)')
  move(2)
  for window = 3, 2, -1 do
    vim.api.nvim_win_close(vim.fn.win_getid(window), false)
  end
  equal(marked(source), {}, 'lines of the source once the IR is gone')
  vim.api.nvim_set_current_win(vim.fn.bufwinid(source))

  do
    local page = vim.env.SCRATCH .. '/page.md'
    vim.fn.writefile({ '# Title', '```quern', '>>> 1 + 1', 'int32 3', '```' }, page)
    local source = vim.api.nvim_get_current_win()
    vim.cmd('new ' .. page)
    equal(vim.fn.maparg('K', 'n'), '', 'the keys of Markdown')
    local client = vim.lsp.get_active_clients({ bufnr = 0 })[1] or vim.lsp.buf_get_clients(0)[1]
    local command = { command = 'quern.runTests', arguments = { { uri = vim.uri_from_bufnr(0) } } }
    client.request_sync('workspace/executeCommand', command, 30000, 0)
    vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end)
    equal(vim.diagnostic.get(0)[1].lnum, 3, 'the output that differs')
    vim.cmd('edit! ' .. vim.env.SCRATCH .. '/plain.md')
    equal(#vim.lsp.buf_get_clients(0), 0, 'servers of other Markdown')
    vim.cmd('close')
    vim.api.nvim_set_current_win(source)
  end

  vim.api.nvim_buf_set_lines(0, 3, 4, false, { '%nothing;' })
  vim.cmd('QuernRestart')
  vim.wait(30000, function() return #vim.diagnostic.get(0) == 1 end)
  equal(#vim.diagnostic.get(0), 1, 'diagnostics of the new server')
end

local fine, failure = xpcall(check, debug.traceback)
io.stdout:write(fine and 'all is well\n' or failure .. '\n')
vim.cmd(fine and 'qall!' or 'cquit 1')

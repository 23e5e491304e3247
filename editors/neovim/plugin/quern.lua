-- Quern in Neovim 0.7 and later; what there is to set is in lua/quern.lua.
if vim.g.loaded_quern then
  return
end
vim.g.loaded_quern = true

-- The syntax, indentation and comments are those of Vim's plugin, which lies beside this one.
local here = vim.loop.fs_realpath(debug.getinfo(1, 'S').source:sub(2))
vim.opt.runtimepath:append(vim.fn.fnamemodify(here, ':h:h:h') .. '/vim')
vim.cmd('runtime! ftdetect/quern.vim')

local group = vim.api.nvim_create_augroup('quern', {})
vim.api.nvim_create_autocmd('FileType', {
  group = group,
  pattern = 'quern',
  callback = function(event)
    require('quern').attach(event.buf)
  end,
})
vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufWritePost' }, {
  group = group,
  pattern = { '*.transcript', '*.md' },
  callback = function(event)
    require('quern').attach_transcript(event.buf)
  end,
})
vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  pattern = 'quern:/*',
  callback = function(event)
    require('quern').read_virtual(event.buf, event.match)
  end,
})

vim.api.nvim_create_user_command('QuernIr', function(command)
  require('quern').show_ir(command.fargs[1], command.fargs[2])
end, {
  nargs = '*',
  desc = 'Show what the file becomes at a stage of compilation: QuernIr [STAGE [@FUNCTION]]',
  complete = function()
    return require('quern').stages
  end,
})
vim.api.nvim_create_user_command('QuernEvaluate', function(command)
  require('quern').evaluate(command.line1, command.line2)
end, { range = true, desc = 'Evaluate the selected lines, or the `// >>>` or the statement of this one' })
vim.api.nvim_create_user_command('QuernRestart', function()
  require('quern').restart()
end, { desc = 'Start the language server anew' })

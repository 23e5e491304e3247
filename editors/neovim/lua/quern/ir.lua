-- What a text becomes at a stage of compilation, in a window beside it, and anew whenever the text changes.
local M = {}

local ir_lines = require('quern.ir_lines')

local delay = 400 -- milliseconds that a text stays as it is before its IR is made anew
local languages = { ast = '', bytecode = '', plan = '', llvm = 'llvm', asm = 'asm' }
--- The server cancels what an edit overtakes: the next edit asks again.
local cancelled = -32802

--- Shows a text in a buffer that cannot be written.
function M.fill(buffer, text)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text:gsub('\n$', ''), '\n'))
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
end

--- The window beside that shows a buffer of this name, which is opened where there is none.
local function window_of(name)
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.b[vim.api.nvim_win_get_buf(window)].quern_ir == name then
      return window
    end
  end
  vim.cmd('keepalt rightbelow vnew')
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = 'nofile', 'wipe', false
  vim.wo.wrap = false
  vim.b.quern_ir = name
  pcall(vim.api.nvim_buf_set_name, 0, name)
  local window = vim.api.nvim_get_current_win()
  vim.cmd('wincmd p')
  return window
end

--- Shows what buffer `source` becomes, which `ask` requests: it is called with what to do with the answer.
local function renew(source, shown, ask)
  local version = vim.api.nvim_buf_get_changedtick(source)
  ask(function(answer, failure)
    local is_there = vim.api.nvim_buf_is_valid(shown) and vim.api.nvim_buf_is_valid(source)
    -- A later text has a request of its own.
    if not is_there or vim.api.nvim_buf_get_changedtick(source) ~= version then
      return
    end
    if answer then
      M.fill(shown, answer.text)
      ir_lines.follow(source, shown, answer.map)
    elseif not failure or failure.code ~= cancelled then
      M.fill(shown, '// ' .. (failure and failure.message or 'no answer'):gsub('\n', '\n// '))
    end
  end)
end

--- Shows `source` at `stage`, of definition `name` or without one, and keeps it up to date while its window is there.
function M.show(source, stage, name, ask)
  local file = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(source), ':t')
  local shown = vim.api.nvim_win_get_buf(window_of(('%s %s(%s)'):format(file, name and name .. ' ' or '', stage)))
  vim.bo[shown].filetype = languages[stage] or 'quern'
  renew(source, shown, ask)

  local group = vim.api.nvim_create_augroup('quern_ir_' .. shown, {})
  local timer
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    group = group,
    buffer = source,
    callback = function()
      if timer then
        timer:stop()
        timer:close()
      end
      timer = vim.defer_fn(function()
        timer = nil
        if vim.api.nvim_buf_is_valid(source) and vim.api.nvim_buf_is_valid(shown) then
          renew(source, shown, ask)
        end
      end, delay)
    end,
  })
  vim.api.nvim_create_autocmd('BufWipeout', {
    group = group,
    buffer = shown,
    callback = function()
      vim.api.nvim_del_augroup_by_id(group)
    end,
  })
end

return M

-- The lines of a source and of what it becomes that belong together: what belongs to the cursor's line is marked in the
-- other buffer.
local M = {}

local namespace = vim.api.nvim_create_namespace('quern_ir_lines')
vim.api.nvim_set_hl(0, 'QuernBelongs', { link = 'Visual', default = true })

--- The lines of the source that line `line` of what it became comes from, or the other way; counted from 0.
local function belonging(map, line, from_source)
  local found = {}
  for _, entry in ipairs(map) do
    local here, there = { entry.lines }, entry.source
    if from_source then
      here, there = there, here
    end
    for _, lines in ipairs(here) do
      if lines[1] <= line and line <= lines[2] then
        vim.list_extend(found, there)
        break
      end
    end
  end
  return found
end

local function mark(buffer, found)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  for _, lines in ipairs(found) do
    local last = math.min(lines[2] + 1, vim.api.nvim_buf_line_count(buffer))
    vim.api.nvim_buf_set_extmark(buffer, namespace, lines[1], 0, { end_row = last, hl_group = 'QuernBelongs', hl_eol = true })
  end
end

--- Marks lines of `shown` and of `source` for as long as both are there; only while the source is what `map` is of.
function M.follow(source, shown, map)
  local version = vim.api.nvim_buf_get_changedtick(source)
  local group = vim.api.nvim_create_augroup('quern_ir_lines_' .. shown, {})
  local function follow()
    local here = vim.api.nvim_get_current_buf()
    local line = vim.api.nvim_win_get_cursor(0)[1] - 1
    local is_current = vim.api.nvim_buf_get_changedtick(source) == version
    mark(here, {})
    mark(here == source and shown or source, is_current and belonging(map, line, here == source) or {})
  end
  for _, buffer in ipairs({ source, shown }) do
    vim.api.nvim_create_autocmd({ 'CursorMoved', 'CursorMovedI' }, { group = group, buffer = buffer, callback = follow })
    vim.api.nvim_create_autocmd('BufWipeout', {
      group = group,
      buffer = buffer,
      callback = function()
        vim.api.nvim_del_augroup_by_id(group)
        mark(source, {})
      end,
    })
  end
  follow()
end

return M

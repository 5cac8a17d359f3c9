// English text of the view "operator-blocks".

export const operatorBlocks = {
  title: "Blocks",
  summary: "Keys that are blocked for spam.",
  list: "Blocked keys",
  empty: "Nobody is blocked",
  emptyText: "A key that asks far too often is blocked for some minutes, and appears here.",
  left: "{{age}} left",
  until: "until {{time}}",
  over: "over",
  lift: "Lift",
  liftName: "Lift the block of {{label}}",
  lifted: "The block of {{label}} is lifted; its limit starts anew.",
  gone: "a deleted key",
};

// English text of the view "operator-blocks".

export const operatorBlocks = {
  title: "Blocks",
  summary: "Keys that are blocked for spam.",
};

// English text of the view "operator-audit".

export const operatorAudit = {
  title: "Audit",
  summary: "Who changed what, newest first.",
};

// The English title of the view "audit". Its other texts are loaded with it.

export const operatorAudit = { title: "Audit" };

// English text of the admin API's reasons for refusing a field.

export const operatorReasons = {
  text: "must be 1 to 100 characters, without control characters",
  serverKey: "must be a server key of the game API: letters and digits, a hyphen, letters and digits",
  community: "must be 1 to 64 letters, digits, _ or -, or empty",
  nameTaken: "belongs to another server already",
  slugTaken: "belongs to another server already",
  slug: "must be 1 to 64 small letters, digits and hyphens, with no hyphen at its ends, or empty",
  commands: 'must be at most 100 command names like ":h", each once',
  commandTwice: "has a name twice; case makes no difference",
  addresses: "must be at most 100 addresses or ranges like 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32",
  address: "entry {{place}} is neither an address nor a range like 10.0.0.0/8",
  expiry: "must be in the future, or empty",
  noServer: "there is no such server",
  grace: "must be a whole number of seconds, at most 30 days",
  yesOrNo: "must be yes or no",
  required: "is required",
  revoked: "is revoked, and stays so",
  waitsNoMore: "no longer waits",
};

// The address of an archive that several instances share.

export function isPostgresAddress(address: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(address);
}

/** An error of the driver may repeat the address, or the password in it. */
export function hideAddress(text: string, url: string): string {
  const password = /:\/\/[^:@/]*:([^@]*)@/.exec(url)?.[1];
  const hidden = text.replaceAll(url, "the address");
  if (!password) return hidden;
  return [password, decodePassword(password)].reduce(
    (left, word) => left.replaceAll(word, "[redacted]"),
    hidden,
  );
}

function decodePassword(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

// The address of an archive that several instances share.

export function isPostgresAddress(address: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(address);
}

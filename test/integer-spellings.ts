// Integers in every way that JSON can write them.
import fc from "fast-check";

/** `plain`: decimal digits. `spelled`: the same integer with zeros after the point, with an exponent, or with both. */
export const spelledInteger = fc
  .record({
    integer: fc.oneof(fc.bigInt(-(10n ** 30n), 10n ** 30n), fc.bigInt(-9n, 9n)),
    shift: fc.integer({ min: -12, max: 12 }),
    zeros: fc.nat(4),
    mark: fc.constantFrom("e", "E"),
    hasPlus: fc.boolean(),
    isBare: fc.boolean(),
  })
  .map(({ integer, shift, zeros, mark, hasPlus, isBare }) => {
    const plain = integer.toString();
    const sign = integer < 0n ? "-" : "";
    if (isBare) return { plain, spelled: `${plain}.${"0".repeat(zeros + 1)}` };
    // The point moves to the left by `shift` digits, or to the right by adding zeros.
    const digits = plain.slice(sign.length).padStart(shift + 1, "0") + "0".repeat(Math.max(0, -shift));
    const cut = digits.length - Math.max(0, shift);
    const fraction = digits.slice(cut) + "0".repeat(zeros);
    const mantissa = `${sign}${stripZeros(digits.slice(0, cut))}${fraction === "" ? "" : `.${fraction}`}`;
    return { plain, spelled: `${mantissa}${mark}${hasPlus && shift >= 0 ? "+" : ""}${shift}` };
  });

/** JSON allows no zeros before other digits. */
function stripZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, "");
}

// Whether the window is as narrow as a phone.
import { useMediaQuery } from "@mantine/hooks";

/** Mantine's breakpoint `sm`: below it the frame hides its navigation behind a burger button. */
const PHONE = "(max-width: 47.99em)";

export function usePhone(): boolean {
  return useMediaQuery(PHONE, false, { getInitialValueInEffect: false });
}

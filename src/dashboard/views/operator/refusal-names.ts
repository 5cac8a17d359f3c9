// A short text for each refusal code.
import { useTranslation } from "react-i18next";

const CODES = [
  5005, 5006, 5007, 5008, 5009, 5010, 5011, 5015, 5016, 5017, 5018, 5019, 5020, 5034, 5100, 5104, 5105, 5106,
  5107, 5108, 5109, 5110,
] as const;

export function useRefusalNames(): (code: number) => string {
  const { t } = useTranslation("operatorKeys");
  return (code) => {
    const known = CODES.find((other) => other === code);
    return `${code}: ${t(known === undefined ? "code.other" : `code.${known}`)}`;
  };
}

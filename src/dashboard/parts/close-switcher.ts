// Lets the list of servers close the dialog around it.
import { createContext, useContext } from "react";

export const CloseSwitcherContext = createContext<() => void>(() => {});

export function useCloseSwitcher(): () => void {
  return useContext(CloseSwitcherContext);
}

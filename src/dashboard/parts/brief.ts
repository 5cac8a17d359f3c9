// Whether a text stands in the two lines of a phone's row: no buttons, no ids. A tap shows all of it.
import { createContext } from "react";

export const BriefContext = createContext(false);

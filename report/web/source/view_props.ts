// The properties that the header and each view get from the page.
import type { Profile } from "./profile";
import type { PageData } from "./result";
import type { Change, State } from "./state";

export interface ViewProps {
  data: PageData;
  profiles: Profile[];
  /** The profiles that are shown side by side. */
  shown: Profile[];
  files: string[];
  state: State;
  change: Change;
}

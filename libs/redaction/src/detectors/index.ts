import type { BuiltInPiiType } from "@drover/contracts";
import { foldWidth } from "../characters.js";
import type { Detector } from "../match.js";
import { detectCreditCard } from "./credit-card.js";
import { detectEmail } from "./email.js";
import { detectIban } from "./iban.js";
import { detectIp } from "./ip.js";
import { detectMacAddress } from "./mac-address.js";
import { detectNik } from "./nik.js";
import { detectPhone } from "./phone.js";
import { detectSsn } from "./ssn.js";
import { detectUrl } from "./url.js";

const DETECTORS: Record<BuiltInPiiType, Detector> = {
  email: detectEmail,
  credit_card: detectCreditCard,
  ip: detectIp,
  mac_address: detectMacAddress,
  url: detectUrl,
  phone: detectPhone,
  iban: detectIban,
  ssn: detectSsn,
  nik: detectNik,
};

/** The detector of each built-in type. All are linear in the length of the text, whatever it is. */
export const BUILT_IN_DETECTORS: ReadonlyMap<string, Detector> = new Map<string, Detector>(
  Object.entries(DETECTORS).map(([type, detect]) => [type, (text, label) => detect(foldWidth(text), label)]),
);

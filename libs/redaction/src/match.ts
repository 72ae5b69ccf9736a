/** Where one detector found something: half-open, in UTF-16 code units of the text it was given. */
export interface Match {
  start: number;
  end: number;
}

/**
 * Finds one type of text. `label` is what stands over the text, such as the key of the object that holds it
 * (`customer_phone`); it is evidence, never searched. Matches come in order and do not overlap.
 */
export type Detector = (text: string, label: string) => Match[];

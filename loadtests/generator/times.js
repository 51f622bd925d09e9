// Store distributions of times. Times are added in milliseconds and stored in whole microseconds.

import hdr from 'hdr-histogram-js';

/** @import { Spread } from './types.ts' */

const HIGHEST_US = 3600e6; // an hour, because no request waits longer

/** An HDR histogram with the exact sum and maximum. */
export class Times {
  sum = 0;
  max = 0;

  /** @param {1 | 2 | 3 | 4 | 5} digits decimal digits that are exact */
  constructor(digits = 3) {
    this.histogram = hdr.build({
      lowestDiscernibleValue: 1,
      highestTrackableValue: HIGHEST_US,
      numberOfSignificantValueDigits: digits,
      bitBucketSize: 32,
      useWebAssembly: false, // because WebAssembly was not faster in a measurement
    });
  }

  record(/** @type {number} */ ms) {
    const us = Math.min(Math.max(Math.round(ms * 1000), 0), HIGHEST_US);
    this.histogram.recordValue(us);
    this.sum += us;
    this.max = Math.max(this.max, us);
  }

  /** @returns {Spread} */
  spread() {
    return { hdr: this.encoded(), max_us: this.max, sum_us: this.sum };
  }

  encoded() {
    return hdr.encodeIntoCompressedBase64(this.histogram);
  }
}

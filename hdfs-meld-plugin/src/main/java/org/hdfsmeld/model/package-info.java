/** What is said of a block: its key, hint, read pattern and decision. Values, for all others. */
package org.hdfsmeld.model;

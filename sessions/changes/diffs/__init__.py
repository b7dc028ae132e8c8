"""Line diffs of two contents: as a patch for the wire, as typed rows for the page."""

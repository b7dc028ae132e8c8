// Input methods: the keys of a composition are theirs, also the Enter that ends it, which Safari tells after the end
// of the composition, as the key 229.

export const composes = (event) => event.isComposing || event.keyCode === 229;

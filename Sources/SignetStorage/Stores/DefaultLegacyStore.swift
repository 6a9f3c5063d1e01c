/// The place in which another SDK has stored an app's data on this system.
package enum DefaultLegacyStore {
    /// The app's keychain on Apple's systems; nil elsewhere.
    package static var current: (any LegacyStore)? {
        #if canImport(Security)
        LegacyKeychain()
        #else
        nil
        #endif
    }
}

/// The part of the network module's `SystemBrowser` that the type check of the Apple sources needs.
enum SystemBrowser {
    struct CannotOpen: Error {
        let description: String
    }
}

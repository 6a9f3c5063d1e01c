// The names are Apple's, and documented there.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

// The part of UIKit that FRAuth names: for the type check only.

@MainActor
open class UIViewController {
    public init() {}
}

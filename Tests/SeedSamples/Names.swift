// The samples stand here as their documents have them.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import FRAuthenticator

// Names that the engine has, too: in the samples they are the app's.
public typealias Account = FRAuthenticator.Account
public typealias Mechanism = FRAuthenticator.Mechanism
public typealias PushNotification = FRAuthenticator.PushNotification

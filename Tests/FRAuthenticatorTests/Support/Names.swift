import FRAuthenticator

// Names that the engine has, too: in these tests they are the app's.
typealias Account = FRAuthenticator.Account
typealias BiometricAvailablePolicy = FRAuthenticator.BiometricAvailablePolicy
typealias DeviceTamperingPolicy = FRAuthenticator.DeviceTamperingPolicy
typealias Mechanism = FRAuthenticator.Mechanism
typealias PushNotification = FRAuthenticator.PushNotification

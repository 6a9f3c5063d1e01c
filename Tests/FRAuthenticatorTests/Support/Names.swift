import FRAuthenticator

// Type names that SignetCore or SignetAuthenticator declare too: these tests mean those of FRAuthenticator.
typealias Account = FRAuthenticator.Account
typealias BiometricAvailablePolicy = FRAuthenticator.BiometricAvailablePolicy
typealias DeviceTamperingPolicy = FRAuthenticator.DeviceTamperingPolicy
typealias Mechanism = FRAuthenticator.Mechanism
typealias PushNotification = FRAuthenticator.PushNotification

// Exports what the signatures of this module name.
//
// The exports of the engine name single types, because other modules have types of their own with names such as
// `PushNotification`.
@_exported public import PingLogger

@_exported public import protocol SignetCore.BiometricAvailability
@_exported public import struct SignetCore.BiometricAvailablePolicy
@_exported public import struct SignetCore.DeviceTamperingPolicy
@_exported public import struct SignetCore.TamperingReadings

/// The operations for devices of a kind that can be listed and deleted.
public protocol ImmutableDevice<T> {
    /// The type of the devices.
    associatedtype T

    /// Returns the devices of the user.
    /// - Throws: ``AuthApiError/apiFailureWithMessage(_:_:_:_:)`` when the server rejects the request; `NetworkError`;
    ///   ``ConfigError``; the errors of the app's function for the session.
    func get() async throws -> [T]
    /// Deletes a device. The user can't log in with it any more.
    /// - Throws: The errors of ``get()``.
    func delete(_ device: T) async throws
}

/// The operations for devices of a kind that can be listed, renamed and deleted.
public protocol MutableDevice<T>: ImmutableDevice {
    /// Changes the name of a device to its `deviceName`.
    /// - Throws: The errors of ``ImmutableDevice/get()``.
    func update(_ device: T) async throws
}

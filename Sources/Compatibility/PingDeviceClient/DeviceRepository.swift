/// The operations for the devices of one kind.
public protocol DeviceRepository<T> {
    /// The type of the devices.
    associatedtype T

    /// Returns the devices of the user.
    func get() async -> Result<[T], DeviceError>
    /// Deletes a device and returns it. The user can't log in with it any more.
    func delete(_ device: T) async -> Result<T, DeviceError>
    /// Changes the name of a device to its `deviceName` and returns the device.
    func update(_ device: T) async -> Result<T, DeviceError>
}

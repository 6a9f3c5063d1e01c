import Foundation

/// A C library that is loaded when it is first needed.
///
/// `signet code` therefore doesn't wait for libpng, and doesn't require zbar and its dependencies (43 libraries) to be installed.
///
/// A library stays loaded until the process ends, because unloading one that other libraries use can crash.
struct DynamicLibrary {
    private let handle: UnsafeMutableRawPointer
    private let name: String

    /// Loads a library.
    /// - Parameters:
    ///   - name: The soname with its ABI version. The signatures used here are valid only for that version.
    ///   - aptPackage: The package to install if the library is missing.
    /// - Throws: ``PictureError/libraryMissing(name:aptPackage:)`` when the library cannot be loaded.
    init(_ name: String, aptPackage: String) throws(PictureError) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw .libraryMissing(name: name, aptPackage: aptPackage)
        }
        self.handle = handle
        self.name = name
    }

    /// Returns a function by its symbol.
    ///
    /// `Function` must be a `@convention(c)` type with the signature in the C header. Only its size, that of a pointer, can be
    /// checked.
    func function<Function>(_ symbol: String, as type: Function.Type = Function.self) throws(PictureError) -> Function {
        guard MemoryLayout<Function>.size == MemoryLayout<UnsafeMutableRawPointer>.size,
            let address = dlsym(handle, symbol)
        else {
            throw .unreadable("the library \(name) has no function \(symbol); install a newer version of the library")
        }
        return unsafeBitCast(address, to: type)
    }
}
